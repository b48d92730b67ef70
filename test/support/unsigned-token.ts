/** A token in the form of a JWT with these claims, or this text in their place. Nobody has signed it. */
export const unsignedToken = (claims: unknown): string =>
  `header.${Buffer.from(typeof claims === 'string' ? claims : JSON.stringify(claims)).toString('base64url')}.signature`;
