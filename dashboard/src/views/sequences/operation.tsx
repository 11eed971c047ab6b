// Which work a number was leased for: its kind and the id the caller gave it.
import { Name } from '../../ui/name.js';

export function Operation({
  kind,
  id,
  most = 32,
}: {
  readonly kind: string;
  readonly id: string;
  readonly most?: number;
}) {
  return (
    <span>
      <Name text={kind} most={24} />, operation <Name text={id} most={most} />
    </span>
  );
}
