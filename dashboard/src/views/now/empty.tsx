// What the first view says when it has nothing to show: how to make the first lease, or that a filter hides everything.
import { setQuery } from '../../router.js';
import { who } from '../../state/session.js';
import { Button, Code, EmptyState } from '../../ui/parts.js';

export function EmptyStore() {
  const { origin } = location;
  const token = who.value?.tokenId === undefined ? [] : ['export HOLDFAST_TOKEN=hf_…'];
  const shell = [`export HOLDFAST_STORE=${origin}`, ...token, 'holdfast run my/first/lease -- sleep 60'];
  return (
    <EmptyState title="Nothing is held right now">
      <p>A lease says who may touch a resource, and until when. Take the first one, and watch it appear here:</p>
      <Code>{shell.join('\n')}</Code>
      <p>From a program:</p>
      <Code>
        {[
          `import { connect } from 'holdfast';`,
          '',
          `const leases = await connect('${origin}');`,
          `await leases.withLease('my/first/lease', async () => {`,
          `  // nobody else is here`,
          `});`,
        ].join('\n')}
      </Code>
      <p class="muted">
        A second one who asks for the same name waits in a queue, and gets the lease when the first is done or has died.
      </p>
    </EmptyState>
  );
}

export function NothingMatches({ isWaiting }: { readonly isWaiting: boolean }) {
  return (
    <EmptyState title={isWaiting ? 'Nobody is waiting' : 'Nothing matches'}>
      <Button onClick={() => setQuery({ prefix: undefined, owner: undefined, status: undefined })}>
        {isWaiting ? 'Show what is held' : 'Clear the filters'}
      </Button>
    </EmptyState>
  );
}
