/** Why there was no answer, in words of our own: messages of Node and of the TLS library quote addresses, names and certificates. */
export function connectionFailure(error: unknown): string {
  const code = codeOf(error);
  const what =
    code === undefined ? 'there was no answer' : (SENTENCES.find(({ codes }) => codes.test(code))?.sentence ?? 'there was no answer');
  return code === undefined ? what : `${what} (${code})`;
}

/** There was no connection on which a request could have been sent: whatever it asked for has not happened. */
export function neverConnected(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code !== undefined && /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT)$/.test(code)
  );
}

const SENTENCES: readonly { readonly codes: RegExp; readonly sentence: string }[] = [
  { codes: /^ECONNREFUSED$/, sentence: 'the connection was refused' },
  { codes: /^(ENOTFOUND|EAI_\w+)$/, sentence: 'the name of its server does not resolve' },
  { codes: /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, sentence: 'there is no way to its server' },
  { codes: /^(ETIMEDOUT|UND_ERR_\w*TIMEOUT)$/, sentence: 'there was no answer in time' },
  { codes: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, sentence: 'the connection broke' },
  {
    codes: /CERT|SIGNED|UNABLE_TO|ALTNAME|CRL/,
    sentence: 'the certificate of its server is not trusted; look at certificate-authority-data and tls-server-name',
  },
  { codes: /^ERR_(OSSL|TLS|SSL)_/, sentence: 'TLS failed; look at certificates and keys of the kubeconfig' },
];

/** The innermost code: those around it are of those who were told. */
function codeOf(error: unknown): string | undefined {
  let found: string | undefined;
  let inner = error;
  for (let depth = 0; inner instanceof Error && depth < CAUSES_MAX; depth++) {
    if ('code' in inner && typeof inner.code === 'string' && /^[A-Z][A-Z\d_]{1,79}$/.test(inner.code)) found = inner.code;
    inner = inner instanceof AggregateError ? (inner.errors[0] as unknown) : inner.cause;
  }
  return found;
}

const CAUSES_MAX = 8;
