// The js and ts blocks of a page, in order, and which of them are to be run: those right after `<!-- run -->`. What one
// prints is the plain block after the next `<!-- prints -->`.

export interface CodeBlock {
  /** A file name that tells where it stands: page, number, language. */
  readonly name: string;
  readonly code: string;
  readonly isRun: boolean;
  readonly prints: string | undefined;
}

const FENCE = /(?<run><!-- run -->\s*)?^(?<indent> *)```(?<kind>js|ts)\n(?<code>.*?)^ *```$/gms;
const PRINTS = /^\s*<!-- prints -->\s*```\n(?<text>.*?)^```$/ms;

export function blocksOf(page: string, text: string): CodeBlock[] {
  return [...text.matchAll(FENCE)].map((match, i) => {
    const { run, indent = '', kind = 'js', code = '' } = match.groups ?? {};
    return {
      name: `${page.replace(/\.md$/, '').toLowerCase()}-${i + 1}.${kind}`,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      isRun: run !== undefined,
      prints: run === undefined ? undefined : printedAfter(text.slice(match.index + match[0].length)),
    };
  });
}

/** Only when nothing but blank lines stands between. */
function printedAfter(rest: string): string | undefined {
  const match = PRINTS.exec(rest);
  return match?.index === 0 ? match.groups?.['text'] : undefined;
}
