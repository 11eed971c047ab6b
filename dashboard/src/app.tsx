// The frame around every view: navigation, connection, sign-in, and the view the address names. The first view is in the first
// bundle; the others are loaded when they are opened.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { RevokeHost } from './act/revoke-host.js';
import { onLinkClick, place } from './router.js';
import { session } from './state/session.js';
import { Banner } from './ui/banner.js';
import { Help, useKeys } from './ui/keys.js';
import { lazy } from './ui/lazy.js';
import { Navigation } from './ui/navigation.js';
import { EmptyState } from './ui/parts.js';
import { SignIn } from './ui/sign-in.js';
import { Now } from './views/now/now.js';

const VIEWS: Readonly<Record<string, { readonly title: string; readonly View: () => JSX.Element }>> = {
  '/now': { title: 'Now', View: Now },
  '/resource': { title: 'Resource', View: lazy(async () => (await import('./views/resource/resource.js')).Resource) },
  '/sequences': {
    title: 'Sequences',
    View: lazy(async () => (await import('./views/sequences/sequences.js')).Sequences),
  },
  '/health': { title: 'Health', View: lazy(async () => (await import('./views/health/health.js')).Health) },
  '/history': { title: 'History', View: lazy(async () => (await import('./views/history/history.js')).History) },
  '/settings': { title: 'Settings', View: lazy(async () => (await import('./views/settings/settings.js')).Settings) },
  '/runbook': { title: 'Runbook', View: lazy(async () => (await import('./views/runbook/runbook.js')).Runbook) },
  '/tokens': { title: 'Tokens', View: lazy(async () => (await import('./views/tokens/tokens.js')).Tokens) },
};

export function App() {
  const { path } = place.value;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const help = useKeys();
  const view = VIEWS[path];
  useEffect(() => {
    document.title = `${view?.title ?? 'Not found'} · Holdfast`;
    // A screen reader is taken to the new view, as it would be by a new page.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [path]);
  return (
    <div class="frame" onClick={onLinkClick}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Navigation onHelp={help.open} />
      <main class="main" id="main" tabIndex={-1} ref={main}>
        <Banner />
        {view ? <view.View key={path} /> : <NotFound />}
      </main>
      {session.value.is === 'refused' && <SignIn why={session.value.why} />}
      <RevokeHost />
      {help.isOpen && <Help onClose={help.close} />}
    </div>
  );
}

function NotFound() {
  return (
    <div class="view">
      <EmptyState title="There is no such view">
        <p>
          <a href="/now">See what is held now</a>
        </p>
      </EmptyState>
    </div>
  );
}
