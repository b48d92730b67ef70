import { NotReady, type Redirect, type SignIn } from '../sign-in/sign-in.ts';
import { foreignRequest } from './foreign-request.ts';
import { RequestRefused, type ApiAnswer, type ApiRequest, type Caller, type Route } from './route.ts';

/** Sign-in of the dashboard by OIDC; `signIn` absent: users have tokens, or a proxy names them. */
export function signInRoutes(signIn: SignIn | undefined): readonly Route[] {
  const provider = route(
    'GET',
    '/oidc/provider',
    'How users sign in, and why the last sign-in of this browser failed',
    async ({ caller }) => {
      if (signIn === undefined) return { kind: 'Json', status: 200, body: {} };
      const { cookies, ...told } = signIn.problem(cookiesOf(caller));
      return { kind: 'Json', status: 200, body: { name: signIn.name, ...told }, headers: { 'set-cookie': cookies } };
    },
  );
  if (signIn === undefined) return [provider];
  return [
    provider,
    route('GET', '/oidc/sign-in', 'Sends the user to the provider', async ({ query }) => redirect(await signIn.begin(query.get('place')))),
    route('GET', '/oidc/callback', 'Takes the user back from the provider', async ({ query, caller }) =>
      redirect(await signIn.finish(query, cookiesOf(caller), caller.address)),
    ),
    route('POST', '/oidc/refresh', 'Prolongs the session', async ({ caller }) => {
      refuseForeign(caller);
      const next = await signIn.refresh(cookiesOf(caller), caller.address);
      if (next === undefined) throw new RequestRefused(409, 'Conflict', 'the session cannot be prolonged: sign in again when it ends');
      return { kind: 'Json', status: 200, body: { sessionMs: next.leftMs }, headers: { 'set-cookie': next.cookies } };
    }),
    route('POST', '/oidc/sign-out', 'Ends the session in this browser', async ({ caller }) => {
      refuseForeign(caller);
      return { kind: 'Bytes', status: 204, headers: { 'set-cookie': signIn.end() } };
    }),
  ];
}

const route = (method: 'GET' | 'POST', path: string, summary: string, handle: (request: ApiRequest) => Promise<ApiAnswer>): Route => ({
  method,
  path,
  summary,
  access: 'Own',
  answers: {},
  async handle(request) {
    try {
      return await handle(request);
    } catch (error) {
      if (error instanceof NotReady) throw new RequestRefused(503, 'ServiceUnavailable', error.message, { 'retry-after': '1' });
      throw error;
    }
  },
});

/** The header as sent. */
export const cookiesOf = ({ header }: Pick<Caller, 'header'>): string | undefined => header('cookie');

const redirect = ({ location, cookies }: Redirect): ApiAnswer => ({
  kind: 'Bytes',
  status: 303,
  headers: { location, 'set-cookie': cookies },
});

/** A page of another site cannot end, or use, the session of a user. */
function refuseForeign({ header }: Caller): void {
  const foreign = foreignRequest(header);
  if (foreign !== undefined) throw new RequestRefused(403, 'Forbidden', foreign);
}
