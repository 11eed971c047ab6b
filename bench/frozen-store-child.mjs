// Takes the write lock of the file and keeps it; its parent stops it there.
import Driver from 'better-sqlite3';

const db = new Driver(process.argv[2]);
db.pragma('busy_timeout = 5000');
db.exec('BEGIN IMMEDIATE');
process.send('locked');
setInterval(() => undefined, 1_000);
