// etcd3 over one etcd.
import { Etcd3 } from 'etcd3';

const TTL_MS = 30_000;

/** `lock` of etcd3 does not wait: who waits campaigns in an election, which queues and watches. A time to live is in seconds. */
export function openEtcd(url) {
  const client = new Etcd3({ hosts: url });
  return {
    name: 'etcd3',
    close: () => client.close(),
    pair: async (i) => {
      const lock = await client
        .lock(`bench/${i % 1_000}`)
        .ttl(TTL_MS / 1_000)
        .acquire();
      await lock.release();
    },
    /** A lease that renews itself every third of its time; the campaign fails when it is lost. */
    lock: async (name, ttlMs = TTL_MS, onLost = () => undefined) => {
      const campaign = client.election(name, ttlMs / 1_000).campaign('holder');
      await campaign.wait();
      campaign.on('error', onLost);
      return { release: () => campaign.resign() };
    },
    /** Without waiting, for as long as it is held. */
    hold: async (name, ttlMs) => {
      const lock = await client
        .lock(name)
        .ttl(ttlMs / 1_000)
        .acquire();
      return { release: () => lock.release() };
    },
  };
}
