// A dialog over the page. The browser's own <dialog> keeps the focus inside, closes on Escape and gives the focus back.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface DialogProps {
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
  /** Escape, the backdrop, or `close` of a form. Without it the dialog stays until the page takes it away. */
  readonly onClose?: (() => void) | undefined;
}

export function Dialog({ title, children, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      // The element is out of the document by now, and a dialog that is gives nothing back.
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const onCancel = (event: Event): void => {
    event.preventDefault();
    onClose?.();
  };
  const onBackdrop = (event: MouseEvent): void => {
    if (event.target === element.current) onClose?.();
  };
  return (
    <dialog class="dialog" ref={element} aria-labelledby={id} onCancel={onCancel} onMouseDown={onBackdrop}>
      <div>
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
