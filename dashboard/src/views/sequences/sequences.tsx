// Sequences: every stream, or the one the address names. What an operator asks of a stream: how far is it, what holds it up,
// what was given up, who is behind, and what waits for a person.
import { place } from '../../router.js';
import { OneStream } from './one-stream.js';
import { StreamList } from './stream-list.js';
import './sequences.css';

export function Sequences() {
  const stream = place.value.query['stream'];
  return stream === undefined ? <StreamList /> : <OneStream key={stream} stream={stream} />;
}
