/** A ConfigMap that a submission brings along with its manifest, which refers to it by this name. */
export type Attachment = {
  readonly name: string;
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
};
