// Keys: `/` goes to the filter of the view, `?` tells the keys, `g` and a letter goes to a view. None of them act while text is
// being written or a dialog is open.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { navigate } from '../router.js';
import { Dialog } from './dialog.js';
import { Button } from './parts.js';

const PLACES: Readonly<Record<string, string>> = {
  n: '/now',
  s: '/sequences',
  h: '/health',
  y: '/history',
  e: '/settings',
};
const CHORD_MS = 1_000;

export interface HelpState {
  readonly isOpen: boolean;
  readonly open: () => void;
  readonly close: () => void;
}

export function useKeys(): HelpState {
  const isOpen = useSignal(false);
  useEffect(() => {
    let chordAt = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      const isChord = performance.now() - chordAt < CHORD_MS;
      chordAt = event.key === 'g' ? performance.now() : -Infinity;
      const goal = isChord ? PLACES[event.key] : undefined;
      if (goal !== undefined) navigate(goal);
      else if (event.key === '?') isOpen.value = true;
      else if (event.key === '/') {
        event.preventDefault();
        document.querySelector<HTMLElement>('[data-filter]')?.focus();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return {
    isOpen: isOpen.value,
    open: () => {
      isOpen.value = true;
    },
    close: () => {
      isOpen.value = false;
    },
  };
}

function isWriting(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]')) return true;
  return target instanceof HTMLElement && target.closest('input, textarea, select') !== null;
}

export function Help({ onClose }: { readonly onClose: () => void }) {
  const keys = [
    [['/'], 'to the filter'],
    [['g', 'n'], 'what is held now'],
    [['g', 's'], 'sequences'],
    [['g', 'h'], 'health'],
    [['g', 'y'], 'history'],
    [['g', 'e'], 'settings'],
    [['?'], 'these keys'],
    [['Esc'], 'close a dialog'],
  ] as const;
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {keys.map(([pressed, what]) => (
          <>
            <dt>
              {pressed.map((key) => (
                <>
                  <kbd>{key}</kbd>{' '}
                </>
              ))}
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <div class="ends">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
