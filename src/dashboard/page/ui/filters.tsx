import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useChoices } from './choices.ts';
import { FIRST_PAGE } from './pager.tsx';

/** A filter of one of several values; `none` is what it says if nothing is chosen. */
export function Choice({
  name,
  label,
  none,
  values,
}: {
  name: string;
  label: string;
  none: string;
  values: readonly (readonly [value: string, name: string])[];
}) {
  const { choices, choose } = useChoices();
  return (
    <NativeSelect
      label={label}
      size="xs"
      value={choices[name] ?? ''}
      onChange={(event) => choose({ ...FIRST_PAGE, [name]: event.currentTarget.value })}
      data={[{ value: '', label: none }, ...values.map(([value, label]) => ({ value, label }))]}
    />
  );
}

/** A filter of text, which follows the address and changes it shortly after each letter. */
export function Search({ name, label, placeholder }: { name: string; label: string; placeholder?: string }) {
  const { choices, choose } = useChoices();
  const inAddress = choices[name] ?? '';
  const [text, setText] = useState(inAddress);
  // "Clear filters", Back and links change the address from outside.
  useEffect(() => setText(inAddress), [inAddress]);
  useEffect(() => {
    if (text === inAddress) return undefined;
    const timer = setTimeout(() => choose({ ...FIRST_PAGE, [name]: text }, 'replace'), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <TextInput
      type="search"
      label={label}
      placeholder={placeholder}
      size="xs"
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
    />
  );
}

/** Button that clears filters, if any of these is chosen. */
export function ClearFilters({ names }: { names: readonly string[] }) {
  const { choices, choose } = useChoices();
  if (!names.some((name) => choices[name])) return null;
  return (
    <Button
      size="xs"
      variant="default"
      onClick={() => choose({ ...FIRST_PAGE, ...Object.fromEntries(names.map((name) => [name, ''])) })}
    >
      Clear filters
    </Button>
  );
}
