import { useState } from 'react';
import { ApiFailure } from '../api/api-failure.ts';
import { fieldOf, wordsOf } from '../api/failure.ts';
import { useAction } from '../api/use-action.ts';

/**
 * State of a plain form: its texts by the names of the fields in the API, and the action that sends them. A refusal shows
 * at the field that it names, or at the one that `codes` has for its code.
 */
export function useFields<Name extends string>(
  start: Readonly<Record<Name, string>>,
  act: (texts: Readonly<Record<Name, string>>) => Promise<unknown>,
  codes: Readonly<Record<string, NoInfer<Name>>> = {},
) {
  const [texts, setTexts] = useState(start);
  const action = useAction(() => act(texts));
  const refused =
    fieldOf(action.error, Object.keys(start) as Name[]) ??
    (action.error instanceof ApiFailure ? codes[action.error.code] : undefined);
  return {
    texts,
    reset: () => setTexts(start),
    /** Props of the form. */
    form: { action, isAtField: refused !== undefined },
    /** Props of a field. */
    field: (name: Name) => ({
      name,
      error: refused === name ? wordsOf(action.error) : undefined,
      value: texts[name],
      onValue: (value: string) => {
        action.forget();
        setTexts({ ...texts, [name]: value });
      },
    }),
  };
}
