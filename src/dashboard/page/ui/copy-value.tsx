import { useRef } from 'react';
import { announce } from './announcements.tsx';

/** A value with a button that copies it. `isMain`: where copying is what the user is to do next. */
export function CopyValue({
  label,
  value,
  verb = 'Copy',
  isMain = false,
}: {
  label: string;
  value: string;
  verb?: string;
  isMain?: boolean;
}) {
  const input = useRef<HTMLInputElement>(null);
  const copy = async () => {
    announce((await copied(value, input.current)) ? `${label} copied.` : 'Press Ctrl+C or ⌘C to copy.');
  };
  return (
    <div className="copy-value">
      <input
        ref={input}
        readOnly
        aria-label={label}
        value={value}
        onFocus={(event) => selectAll(event.currentTarget)}
      />
      <button type="button" className={isMain ? 'primary' : undefined} onClick={copy}>
        {verb}
      </button>
    </div>
  );
}

/** A small button that copies a text which is shown beside it. */
export function CopyButton({ label, value }: { label: string; value: string }) {
  const copy = async () => {
    announce((await copied(value, null)) ? `${label} copied.` : 'Select the text and press Ctrl+C or ⌘C.');
  };
  return (
    <button type="button" aria-label={`Copy ${label}`} onClick={copy}>
      Copy
    </button>
  );
}

/**
 * Copies a value; resolves with true if that worked. Over plain HTTP, where browsers have no clipboard API, the
 * value is selected and copied by execCommand.
 */
export async function copied(value: string, input: HTMLInputElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    input?.focus();
    if (input) selectAll(input);
    return document.execCommand('copy');
  }
}

/** Selects the whole value, and shows its beginning where it is longer than the field. */
function selectAll(input: HTMLInputElement): void {
  input.setSelectionRange(0, input.value.length, 'backward');
  input.scrollLeft = 0;
}
