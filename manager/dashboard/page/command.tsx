import { useState } from 'preact/hooks';

/** What to type instead, to be taken along. */
export function Command({ does, line }: { readonly does: string; readonly line: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(line);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <p class="command">
      <code>{line}</code>
      <button type="button" class="quiet" aria-label={`Copy the command to ${does}`} onClick={() => void copy()}>
        {isCopied ? 'copied' : 'copy'}
      </button>
    </p>
  );
}
