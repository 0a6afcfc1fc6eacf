import type { FocusEvent, KeyboardEvent } from 'react';

/** Handlers of a text field whose value counts when the user leaves the field or presses Enter, not at each letter. */
export function onCommit(before: string, commit: (value: string) => void) {
  const take = ({ value }: HTMLInputElement) => {
    if (value.trim() !== before.trim()) commit(value.trim());
  };
  return {
    onBlur: (event: FocusEvent<HTMLInputElement>) => take(event.currentTarget),
    onKeyDown: (event: KeyboardEvent<HTMLInputElement>) => {
      if (event.key === 'Enter') take(event.currentTarget);
    },
  };
}
