// A process that runs batches of worlds for whoever started it, one after the other, until it is told no more.
import { runBatch, type Batch } from './batch.js';

process.on('message', (batch: Batch) => {
  runBatch(batch).then(
    (result) => process.send?.({ result }),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
process.on('disconnect', () => process.exit());
