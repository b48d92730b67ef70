import { useEffect, useRef, useState } from 'preact/hooks';
import { Mark } from './parts.tsx';
import { signInAt } from './api.ts';
import { askProvider, enter, provider } from './state.tsx';

export function Login({ why }: { readonly why: string | undefined }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    void askProvider();
  }, []);
  const { name, problem = why } = provider.value ?? {};
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const text = token.trim();
    if (text === '') return;
    setBusy(true);
    await enter(text);
    setBusy(false);
  };
  return (
    <main class="login">
      <form onSubmit={(event) => void submit(event)}>
        <Mark width={64} />
        <h1>Switchyard</h1>
        <p>Sign in with {name === undefined ? '' : `${name}, or with `}a token of the manager cluster. You see what its user may see there.</p>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {name !== undefined && (
          <a class="sign-in" href={signInAt(location.hash)}>
            Sign in with {name}
          </a>
        )}
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
          placeholder="eyJhbGciOi…"
        />
        <button type="submit" disabled={isBusy || token.trim() === ''}>
          {isBusy ? 'Asking …' : 'Sign in'}
        </button>
        <p class="hint">
          One for an hour: <code>kubectl create token ACCOUNT -n NAMESPACE</code>. It is kept in this tab alone, until that is closed.
        </p>
      </form>
    </main>
  );
}
