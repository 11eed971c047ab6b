// A field of a search, whose value is in the address: what is typed is a link that can be sent.
import { place, setQuery } from '../router.js';

export interface FilterFieldProps {
  readonly label: string;
  /** Its key in the address. */
  readonly name: string;
  /** An example of what to type. */
  readonly placeholder: string;
  /** Where the key `/` leads. */
  readonly isFirst?: boolean;
}

export function FilterField({ label, name, placeholder, isFirst = false }: FilterFieldProps) {
  return (
    <label class="field wide">
      <span>{label}</span>
      <input
        class="input"
        type="search"
        spellcheck={false}
        data-filter={isFirst ? '' : undefined}
        placeholder={placeholder}
        value={place.value.query[name] ?? ''}
        onInput={(event) => setQuery({ [name]: event.currentTarget.value })}
      />
    </label>
  );
}
