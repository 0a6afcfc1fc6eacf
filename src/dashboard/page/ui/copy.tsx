import { Button, TextInput } from '@mantine/core';
import { useRef } from 'react';
import { announce } from './announce.tsx';

/** A value with a button that copies it. `isMain`: copying is what the user is to do next. */
export function CopyValue({
  label,
  value,
  isMain = false,
}: {
  label: string;
  value: string;
  isMain?: boolean;
}) {
  const input = useRef<HTMLInputElement>(null);
  const copy = async () => {
    announce((await copied(value, input.current)) ? `${label} copied.` : 'Press Ctrl+C or ⌘C to copy.');
  };
  return (
    <div className="copy-value">
      <TextInput
        ref={input}
        readOnly
        aria-label={label}
        value={value}
        onFocus={(event) => selectAll(event.currentTarget)}
      />
      <Button variant={isMain ? 'filled' : 'default'} onClick={copy}>
        Copy
      </Button>
    </div>
  );
}

/** A small button that copies a text which is shown beside it. */
export function CopyButton({ label, value, text }: { label: string; value: string; text?: string }) {
  const copy = async () => {
    announce((await copied(value, null)) ? `${label} copied.` : 'Select the text and press Ctrl+C or ⌘C.');
  };
  return (
    <Button size="compact-xs" variant="default" aria-label={text ?? `Copy ${label}`} onClick={copy}>
      {text ?? 'Copy'}
    </Button>
  );
}

/**
 * Copies a value; resolves with true if that worked. Over plain HTTP browsers have no clipboard API: the value is
 * selected and copied by execCommand.
 */
async function copied(value: string, input: HTMLInputElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    input?.focus();
    if (input) selectAll(input);
    return document.execCommand('copy');
  }
}

/** Selects the whole value, and shows its beginning if it is longer than the field. */
function selectAll(input: HTMLInputElement): void {
  input.setSelectionRange(0, input.value.length, 'backward');
  input.scrollLeft = 0;
}
