// A command to type somewhere else, with a button that copies it. Where the browser gives no clipboard (a page that did not
// come over TLS or from this machine) the text is selected instead.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { plainName } from './name-text.js';
import { Button } from './parts.js';
import './entries.css';

type State = 'ready' | 'copied' | 'selected';
const WORDS: Readonly<Record<State, string>> = { ready: 'Copy', copied: 'Copied', selected: 'Press Ctrl+C' };

export function Command({ text, label = 'command' }: { readonly text: string; readonly label?: string }) {
  const code = useRef<HTMLElement>(null);
  const state = useSignal<State>('ready');
  const select = (): void => {
    if (code.current) getSelection()?.selectAllChildren(code.current);
    state.value = 'selected';
  };
  const copy = (): void => {
    if (!globalThis.isSecureContext) select();
    else {
      navigator.clipboard.writeText(text).then(() => {
        state.value = 'copied';
      }, select);
    }
  };
  return (
    <div class="command">
      <pre class="code" tabIndex={0}>
        <code ref={code}>{text.split('\n').map(plainName).join('\n')}</code>
      </pre>
      <Button kind="quiet" aria-label={`${WORDS[state.value]}: ${label}`} onClick={copy}>
        {WORDS[state.value]}
      </Button>
    </div>
  );
}
