// A fourth node of a Redis cluster, which follows one of the three and takes its place: when it is told to, or when the others have
// agreed that it is dead.
import { meet, startNode, until, type ClusterNode } from './redis-cluster-node.js';
import type { RedisServer } from './redis-server.js';

export interface ClusterReplica {
  readonly server: RedisServer;
  /** Resolves when it has everything that its primary has. */
  caughtUp(): Promise<void>;
  /** What is written from now on does not reach it, and it goes on being a replica. */
  holdReplication(): Promise<void>;
  /** Makes it the primary: at once, or (`FORCE`) when the other primaries have voted for it. */
  takeOver(how: 'TAKEOVER' | 'FORCE'): Promise<void>;
}

/** Resolves when it has everything, and everybody knows whom it follows. */
export async function addReplica(
  nodes: ClusterNode[],
  primary: ClusterNode,
  settings: Readonly<Record<string, string>>,
): Promise<ClusterReplica> {
  const node = await startNode(settings);
  nodes.push(node);
  await meet(nodes, [node]);
  await until('the replica to know its primary', async () => {
    const known = String(await node.client.sendCommand(['CLUSTER', 'NODES']));
    return known.includes(primary.id);
  });
  await node.client.sendCommand(['CLUSTER', 'REPLICATE', primary.id]);
  const replica = replicaOf(primary, node);
  await replica.caughtUp();
  await until('everybody to know the replica', async () => {
    const texts = await Promise.all(nodes.map(({ client }) => client.sendCommand(['CLUSTER', 'NODES'])));
    return texts.every((text) =>
      new RegExp(`^${node.id} .* (?:myself,)?slave\\S* ${primary.id} `, 'm').test(String(text)),
    );
  });
  return replica;
}

function replicaOf(primary: ClusterNode, { server, client }: ClusterNode): ClusterReplica {
  return {
    server,
    /** The offset of the last change: a primary counts it, a replica has it when it has the change. */
    caughtUp: () =>
      until('the replica to catch up', async () => {
        const [there, here] = await Promise.all(
          [primary.client, client].map(async (one) => String(await one.sendCommand(['INFO', 'replication']))),
        );
        const written = /^master_repl_offset:(\d+)/m.exec(there ?? '')?.[1];
        return (
          /^master_link_status:up/m.test(here ?? '') && /^slave_repl_offset:(\d+)/m.exec(here ?? '')?.[1] === written
        );
      }),
    async holdReplication() {
      // A password that nobody asked for is an error, so that it cannot come back once it is cut off.
      await client.sendCommand(['CONFIG', 'SET', 'masterauth', 'nobody asked for one']);
      await primary.client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'replica']);
      await until('the replica to be cut off', async () =>
        /^master_link_status:down/m.test(String(await client.sendCommand(['INFO', 'replication']))),
      );
    },
    async takeOver(how) {
      await client.sendCommand(['CLUSTER', 'FAILOVER', how]);
      await until('the replica to be the primary', async () =>
        /^role:master/m.test(String(await client.sendCommand(['INFO', 'replication']))),
      );
    },
  };
}
