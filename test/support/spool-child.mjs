// Keeps results in a spool until the disk takes no more, and says which it was told are kept: node spool-child.mjs FOLDER
import { systemClock } from '../../dist/index.js';
import { SpoolFile } from '../../dist/sequence/spool/spool-file.js';
import { homeOf } from '../../dist/sequence/spool/spool-owner.js';

const file = await SpoolFile.open(process.argv[2], systemClock(), homeOf({ kind: 'memory', namespace: 'default' }));
const text = 'x'.repeat(1_000);
try {
  for (let i = 0; ; i += 1) {
    await file.keep({ stream: 's', operationId: `op-${i}`, kind: 'k', epoch: 1, operations: [text] });
    console.log(`kept op-${i}`);
  }
} catch (error) {
  console.log(`${error.code} ${error.message}`);
}
process.exit(0);
