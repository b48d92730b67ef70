import { emptyObject } from '../fields/managed-fields.ts';
import type { ListPage } from '../registry/list.ts';
import type { Representation } from '../request/negotiation.ts';
import type { Query } from '../request/request.ts';
import { type ServedResource, textOf, toVersioned, workingForm } from '../resources/served-resources.ts';
import { badRequest, StatusError } from '../apimachinery/status-error.ts';
import { internalType } from '../schema/decode.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { TableColumn, TablePrinter } from '../resources/strategy.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';

/** Turns stored objects into the JSON text of an answer, in the representation that the client asked for. */
export interface Presenter {
  object(stored: StoredObject): string;
  list(page: ListPage): string;
  /** An object of a watch; only the first Table of a watch describes its columns. */
  watched(stored: StoredObject, first: boolean): string;
  /** The object of a bookmark, which has nothing but these metadata. */
  bookmark(metadata: BookmarkMeta, first: boolean): string;
}

export type BookmarkMeta = { readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> };

export function createPresenter(resource: ServedResource, representation: Representation, query: Query, now: () => number): Presenter {
  switch (representation.as) {
    case 'table':
      return tablePresenter(resource, representation, () => includeObject(query), now);
    case 'metadata':
    case 'metadata-list':
      return metadataPresenter(resource, representation);
    case 'object':
      return objectPresenter(resource);
  }
}

const objectPresenter = (resource: ServedResource): Presenter => ({
  object: (stored) => textOf(resource, stored),
  watched: (stored) => textOf(resource, stored),
  bookmark: (metadata) => JSON.stringify({ kind: resource.definition.kind, apiVersion: resource.apiVersion, metadata }),
  list: (page) => {
    const { definition, apiVersion, custom } = resource;
    const head = JSON.stringify({
      kind: definition.listKind,
      apiVersion,
      metadata: { ...(custom ? { continue: '' } : {}), ...listMeta(page) },
    }).slice(0, -1);
    return `${head},"items":[${page.items.map((stored) => itemText(resource, stored, custom)).join(',')}]}`;
  },
});

/** Items of built-in lists carry neither kind nor apiVersion; those of custom resources do. */
function itemText(resource: ServedResource, stored: StoredObject, custom: boolean): string {
  if (custom) return textOf(resource, stored);
  const { view } = resource.definition;
  if (view === undefined) return stored.text;
  const { kind: _kind, apiVersion: _apiVersion, ...shown } = view.fromStored(stored.object);
  return JSON.stringify(shown);
}

const listMeta = ({ resourceVersion, continueToken, remainingItemCount }: ListPage): object => ({
  resourceVersion,
  ...(continueToken === '' ? {} : { continue: continueToken }),
  ...omitUndefined({ remainingItemCount }),
});

/** Each of the two kinds is for what it says: metadata of one object, or of a list. Watches show the object whole where neither fits. */
function metadataPresenter(resource: ServedResource, { as, metaVersion }: Representation): Presenter {
  const { metadataTexts } = resource;
  const apiVersion = `meta.k8s.io/${metaVersion}`;
  const partial = ({ object }: StoredObject): object => ({ kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata });
  const made = (stored: StoredObject): string => JSON.stringify(partial(stored));
  /** Every watcher of metadata shows the same text. */
  const text = (stored: StoredObject): string => {
    if (metaVersion !== 'v1') return made(stored);
    const known = metadataTexts.get(stored);
    if (known !== undefined) return known;
    const fresh = made(stored);
    metadataTexts.set(stored, fresh);
    return fresh;
  };
  const { watched, bookmark } = objectPresenter(resource);
  const ofOne: Presenter = {
    object: text,
    watched: text,
    bookmark: (metadata) => JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion, metadata }),
    list: () => {
      throw unacceptable(`you requested PartialObjectMetadata, but the requested object is a list (${goListType(resource)})`);
    },
  };
  const ofList: Presenter = {
    object: () => {
      throw unacceptable(`you requested PartialObjectMetadataList, but the requested object is not a list (${goType(resource)})`);
    },
    watched,
    bookmark,
    list: (page) =>
      JSON.stringify({ kind: 'PartialObjectMetadataList', apiVersion, metadata: listMeta(page), items: page.items.map(partial) }),
  };
  return as === 'metadata' ? ofOne : ofList;
}

const unacceptable = (message: string): StatusError => new StatusError(406, 'NotAcceptable', message);

/** The type of the server's internal objects, which messages name. */
const goType = ({ custom, definition }: ServedResource): string =>
  custom ? '*unstructured.Unstructured' : `*${internalType({ group: definition.group, version: '', kind: definition.kind })}`;
const goListType = ({ custom, definition }: ServedResource): string =>
  custom ? '*unstructured.UnstructuredList' : `*${internalType({ group: definition.group, version: '', kind: definition.kind })}List`;

/** What carries a bookmark where objects are shown in rows. */
const bookmarked = ({ schema }: ServedResource, metadata: BookmarkMeta): StoredObject => {
  const object = { ...emptyObject(schema), metadata: { name: '', uid: '', creationTimestamp: '', ...metadata } };
  return { namespace: '', name: '', revision: 0, object, text: '' };
};

type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Throws 400 for a value that does not exist. */
export function includeObject(query: Query): IncludeObject {
  const value = query.get('includeObject');
  if (value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'None' || value === 'Object') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

const CREATED_AT = 'CreationTimestamp is a timestamp representing the server time when this object was created.';
const column = (name: string, type: string, format: string, description: string): TableColumn => ({
  name,
  type,
  format,
  description,
  priority: 0,
});
/** The columns of kinds that have none of their own (rest.NewDefaultTableConvertor). */
const DEFAULT_PRINTER: TablePrinter = {
  columns: [column('Name', 'string', 'name', 'Name must be unique within a namespace.'), column('Created At', 'date', '', CREATED_AT)],
  cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp],
};

function tablePresenter(
  resource: ServedResource,
  { metaVersion }: Representation,
  readInclude: () => IncludeObject,
  now: () => number,
): Presenter {
  const printer = resource.definition.strategy.table ?? DEFAULT_PRINTER;
  const apiVersion = `meta.k8s.io/${metaVersion}`;
  // Upstream reads the option when it has something to show: after the write.
  let include: IncludeObject | undefined;
  const shown = (stored: StoredObject): object | null => {
    if (include === 'None') return null;
    if (include === 'Object') return toVersioned(resource, stored.object);
    return { kind: 'PartialObjectMetadata', apiVersion, metadata: stored.object.metadata };
  };
  const row = (stored: StoredObject): object => {
    const object = workingForm(resource, stored);
    const conditions = printer.rowConditions?.(object);
    return { cells: printer.cells(object, now()), ...omitUndefined({ conditions }), object: shown(stored) };
  };
  const table = (metadata: object, columns: readonly TableColumn[] | null, items: readonly StoredObject[]): string => {
    include ??= readInclude();
    return JSON.stringify({ kind: 'Table', apiVersion, metadata, columnDefinitions: columns, rows: items.map(row) });
  };
  const one = (stored: StoredObject, columns: readonly TableColumn[] | null): string =>
    table({ resourceVersion: stored.object.metadata.resourceVersion }, columns, [stored]);
  return {
    object: (stored) => one(stored, printer.columns),
    watched: (stored, first) => one(stored, first ? printer.columns : null),
    bookmark: (metadata, first) => one(bookmarked(resource, metadata), first ? printer.columns : null),
    list: (page) => table(listMeta(page), printer.columns, page.items),
  };
}
