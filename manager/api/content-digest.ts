import { createHash } from 'node:crypto';

type Texts = Readonly<Record<string, string>>;
/** A ConfigMap or Secret as an API server has it, or one that is to be created. */
type WithContent = { readonly data?: Texts | undefined; readonly binaryData?: Texts | undefined; readonly type?: string | undefined };

/** The content of a ConfigMap or Secret: keys in order, and no empty maps, which API servers do not keep. */
export const contentOf = ({ data, binaryData, type }: WithContent) => ({
  ...(isEmpty(data) ? {} : { data: sorted(data) }),
  ...(isEmpty(binaryData) ? {} : { binaryData: sorted(binaryData) }),
  ...(type === undefined ? {} : { type }),
});

/** 128 bits in hex: equal for objects of equal content. */
export const contentDigest = (object: WithContent): string =>
  createHash('sha256')
    .update(JSON.stringify(contentOf(object)))
    .digest('hex')
    .slice(0, 32);

const isEmpty = (map: Texts | undefined): map is undefined => map === undefined || Object.keys(map).length === 0;

const sorted = (map: Texts): Record<string, string> => Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));
