// The way around, and at its foot: how the connection stands, who is signed in, light or dark, the keys.
import { place } from '../router.js';
import { hasToken } from '../api/client.js';
import { connection } from '../state/connection.js';
import { may, signOut, who } from '../state/session.js';
import { Name } from './name.js';
import { Button } from './parts.js';
import { theme, nextTheme } from './theme.js';

const LINKS = [
  ['/now', 'Now'],
  ['/sequences', 'Sequences'],
  ['/health', 'Health'],
  ['/history', 'History'],
  ['/settings', 'Settings'],
] as const;

const STATES = {
  connecting: 'Connecting',
  live: 'Live',
  gone: 'Not connected',
  refused: 'Signed out',
  unlogged: 'Every few seconds',
} as const;

export function Navigation({ onHelp }: { readonly onHelp: () => void }) {
  const { path } = place.value;
  const links = may('manageTokens') ? [...LINKS, ['/tokens', 'Tokens'] as const] : LINKS;
  const isCurrent = (href: string): boolean => href === path || (href === '/now' && path === '/resource');
  return (
    <header class="side">
      <a class="brand" href="/now" aria-label="Holdfast">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" fill="var(--accent)" />
          <path d="M11 8v16M21 8v16M11 16h10" stroke="var(--on-accent)" stroke-width="3.5" stroke-linecap="round" />
        </svg>
        <span>Holdfast</span>
      </a>
      <nav class="nav" aria-label="Views">
        {links.map(([href, title]) => (
          <a key={href} href={href} aria-current={isCurrent(href) ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <div class="foot">
        <Who />
        <span class="state" role="status" data-is={connection.value.is}>
          {STATES[connection.value.is]}
        </span>
        <div class="tools">
          <Button kind="quiet" onClick={nextTheme} title="Light, dark, or as the system says">
            {theme.value === 'system' ? 'Auto' : theme.value === 'dark' ? 'Dark' : 'Light'}
          </Button>
          <Button kind="quiet" onClick={onHelp} aria-label="Keys">
            ?
          </Button>
          {who.value && hasToken() && (
            <Button kind="quiet" onClick={signOut}>
              Sign out
            </Button>
          )}
        </div>
      </div>
    </header>
  );
}

function Who() {
  const me = who.value;
  if (!me) return null;
  return (
    <div class="where">
      <div>
        <Name text={me.name} most={22} /> · {me.role}
      </div>
      {me.prefix !== undefined && (
        <div>
          below <Name text={me.prefix} most={22} />
        </div>
      )}
      <div>
        {me.store} · <Name text={me.namespace} most={18} />
      </div>
      <div>version {me.version}</div>
    </div>
  );
}
