// The small parts views are put together from: buttons, notes, chips, panels, what is said when there is nothing to show.
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { ApiError } from '../api/client.js';
import './parts.css';

export type Tone = 'accent' | 'warn' | 'bad';

export interface ButtonProps extends ButtonHTMLAttributes {
  readonly kind?: 'primary' | 'danger' | 'quiet';
}

export function Button({ kind, type = 'button', ...rest }: ButtonProps) {
  return <button class="button" data-kind={kind} type={type} {...rest} />;
}

export function Chip({ tone, children }: { readonly tone?: Tone | undefined; readonly children: ComponentChildren }) {
  return (
    <span class="chip" data-tone={tone}>
      {children}
    </span>
  );
}

export interface PanelProps {
  readonly title: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Panel({ title, aside, children }: PanelProps) {
  return (
    <section class="panel">
      <header>
        <h2>{title}</h2>
        {aside !== undefined && <span class="muted">{aside}</span>}
      </header>
      <div class="body">{children}</div>
    </section>
  );
}

/** Every view begins with one. `title` is also what the tab says. */
export function ViewHead({ title, aside, actions }: ViewHeadProps) {
  return (
    <div class="view-head">
      <h1>{title}</h1>
      {aside !== undefined && <span class="muted">{aside}</span>}
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
  );
}

export interface ViewHeadProps {
  readonly title: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** What went wrong in the server's words, and a way to try again where that can help. */
export function ErrorNote({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}) {
  return (
    <div class="note" role="alert">
      <span>{errorText(error)}</span>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

export function errorText(error: unknown): string {
  if (error instanceof ApiError && error.status === 403) return `Not allowed for this token: ${error.message}`;
  const text = error instanceof Error ? error.message : String(error);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function Code({ children }: { readonly children: string }) {
  return (
    <pre class="code" tabIndex={0}>
      <code>{children}</code>
    </pre>
  );
}

export function Loading() {
  return (
    <p class="muted" role="status">
      Loading…
    </p>
  );
}
