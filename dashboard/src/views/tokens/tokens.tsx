// Tokens, for admins: who may use the server and for what. A secret is shown once, when it is made, and is in the memory of this view
// until it is closed. Revoking says what stays: the leases that were taken with it.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { get } from '../../api/client.js';
import type { MadeToken, Token, TokenPage } from '../../api/types.js';
import { useAsked } from '../../state/asked.js';
import { may, who } from '../../state/session.js';
import { Name } from '../../ui/name.js';
import { isNarrow } from '../../ui/narrow.js';
import { Button, Chip, EmptyState, ErrorNote, Loading, ViewHead } from '../../ui/parts.js';
import { Table, type Column } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { CreateToken } from './create-token.js';
import { RevokeToken } from './revoke-token.js';
import { Secret } from './secret.js';
import './tokens.css';

const EVERY_MS = 10_000;
type Open =
  | { readonly is: 'create' }
  | { readonly is: 'made'; readonly token: MadeToken }
  | { readonly is: 'revoke'; readonly token: Token };

export function Tokens() {
  if (!who.value)
    return (
      <Frame>
        <Loading />
      </Frame>
    );
  if (!may('manageTokens')) {
    return (
      <Frame>
        <EmptyState title="Only for the role admin">
          <p>Tokens are made, listed and revoked by admins. This one looks at everything else.</p>
        </EmptyState>
      </Frame>
    );
  }
  return <List />;
}

function Frame({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="view">
      <ViewHead title="Tokens" />
      {children}
    </div>
  );
}

function List() {
  const tokens = useAsked('tokens', (stop) => get<TokenPage>('/v1/tokens', {}, stop), { everyMs: EVERY_MS });
  const open = useSignal<Open | undefined>(undefined);
  const close = (): void => {
    open.value = undefined;
    tokens.again();
  };
  const items = tokens.value?.items;
  const create = (
    <Button
      kind="primary"
      aria-haspopup="dialog"
      onClick={() => {
        open.value = { is: 'create' };
      }}
    >
      Create a token
    </Button>
  );
  return (
    <div class="view">
      <ViewHead title="Tokens" aside={items && items.length > 0 && `${items.length} stand`} actions={create} />
      {tokens.error !== undefined && <ErrorNote error={tokens.error} onRetry={tokens.again} />}
      {!items && tokens.error === undefined && <Loading />}
      {items?.length === 0 && <NoTokens />}
      {items && items.length > 0 && (
        <Table
          label="Tokens, oldest first"
          rows={items}
          keyOf={keyOf}
          columns={columnsFor(open)}
          rowPx={isNarrow.value ? 62 : 46}
        />
      )}
      {open.value?.is === 'create' && (
        <CreateToken
          isFirst={items?.length === 0}
          onClose={close}
          onMade={(token) => {
            open.value = { is: 'made', token };
          }}
        />
      )}
      {open.value?.is === 'made' && <Secret token={open.value.token} onClose={close} />}
      {open.value?.is === 'revoke' && <RevokeToken token={open.value.token} onClose={close} />}
    </div>
  );
}

function NoTokens() {
  return (
    <EmptyState title="There are no tokens yet">
      <p>
        Until the first one is made, this server answers this machine alone, and everybody on it is admin. The first
        token shuts that door for good: make it an admin, and keep its secret.
      </p>
    </EmptyState>
  );
}

function keyOf({ id }: Token): string {
  return id;
}

const columns = new WeakMap<object, readonly Column<Token>[]>();

function columnsFor(open: { value: Open | undefined }): readonly Column<Token>[] {
  const known = columns.get(open) ?? makeColumns(open);
  columns.set(open, known);
  return known;
}

function makeColumns(open: { value: Open | undefined }): readonly Column<Token>[] {
  return [
    { title: 'Name', width: 'minmax(0, 1.6fr)', cell: (token) => <NameCell token={token} /> },
    { title: 'Role', width: '5rem', cell: ({ role }) => role },
    { title: 'Bounds', width: 'minmax(0, 1.6fr)', isWide: true, cell: (token) => <BoundsCell token={token} /> },
    {
      title: 'Made',
      width: 'minmax(0, 1.4fr)',
      isWide: true,
      cell: ({ createdAt, createdBy }) => (
        <>
          <Time at={createdAt} /> <span class="muted">by</span> <Name text={createdBy} most={24} />
        </>
      ),
    },
    { title: 'Ends', width: '8rem', isWide: true, cell: (token) => <EndsCell token={token} /> },
    {
      title: 'Action',
      width: '6rem',
      align: 'end',
      cell: (token) => (
        <Button
          kind="danger"
          aria-haspopup="dialog"
          aria-label={`Revoke token ${token.name}`}
          onClick={() => {
            open.value = { is: 'revoke', token };
          }}
        >
          Revoke
        </Button>
      ),
    },
  ];
}

function NameCell({ token }: { readonly token: Token }) {
  const isMine = who.value?.tokenId === token.id;
  return (
    <span class="token-name">
      <Name text={token.name} most={36} />
      {isMine && <Chip tone="accent">this one</Chip>}
    </span>
  );
}

function BoundsCell({ token: { prefix, owner } }: { readonly token: Token }) {
  if (prefix === undefined && owner === undefined) return <span class="muted">none</span>;
  return (
    <>
      {prefix !== undefined && (
        <>
          <span class="muted">below</span> <Name text={prefix} most={28} />{' '}
        </>
      )}
      {owner !== undefined && (
        <>
          <span class="muted">as</span> <Name text={owner} most={24} />
        </>
      )}
    </>
  );
}

function EndsCell({ token: { expiresAt } }: { readonly token: Token }) {
  return expiresAt === undefined ? <span class="muted">when revoked</span> : <Time at={expiresAt} />;
}
