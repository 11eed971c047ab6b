// Somebody else's text on our page: names of resources, owners, reasons. Always text, kept apart from the direction of what is
// around it, never invisible; the whole of it on hover and when it is copied.
import { cutMiddle, piecesOf, plainName } from './name-text.js';

export interface NameProps {
  readonly text: string;
  /** Characters that are shown; the middle of what is longer is left out. */
  readonly most?: number;
}

export function Name({ text, most = 64 }: NameProps) {
  const shown = cutMiddle(text, most);
  const isCut = shown !== text;
  const copy = (event: ClipboardEvent): void => {
    if (!isCut || !event.clipboardData || !isWholly(event.currentTarget as Node)) return;
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
  };
  return (
    <bdi class="name" title={plainName(text)} onCopy={copy}>
      {text === ''
        ? '(empty)'
        : piecesOf(shown).map((piece, at) =>
            piece.isOdd ? (
              <span key={at} class="odd">
                {piece.text}
              </span>
            ) : (
              piece.text
            ),
          )}
    </bdi>
  );
}

/** Whether just this name is selected; whoever copies half a page gets what is shown. */
function isWholly(element: Node): boolean {
  const selection = getSelection();
  return selection !== null && element.contains(selection.anchorNode) && element.contains(selection.focusNode);
}
