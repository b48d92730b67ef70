/** Who speaks, for authorization. `system:masters` may do everything. */
export type UserInfo = {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};

/** The server itself, as the author of what exists from the beginning. */
export const API_SERVER_USER: UserInfo = { name: 'system:apiserver', groups: ['system:masters'] };
