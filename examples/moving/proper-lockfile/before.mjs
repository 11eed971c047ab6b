// Moving from proper-lockfile, before. A holder that is paused until its lock is stale writes over the next one's file, and
// takes away the next one's lock when it lets go.
//
//   node before.mjs NAME FILE [WORK_MS]
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import lockfile from 'proper-lockfile';

const [name, file, workMs = '500'] = process.argv.slice(2);
writeFileSync(file, '', { flag: 'a' }); // a file must be there to be locked

const release = await lockfile.lock(file, {
  stale: 2_000,
  retries: { forever: true, minTimeout: 50, maxTimeout: 50 },
  onCompromised: (error) => console.log(`${name}: ${error.code}`),
});
console.log(`${name} holds the file`);
await sleep(Number(workMs));
writeFileSync(file, `by ${name}`);
console.log(`${name} has written`);
await release().catch((error) => console.log(`${name}: ${error.code}`));
