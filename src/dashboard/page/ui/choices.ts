import { useNavigate, useSearch } from '@tanstack/react-router';

/** Choices of a page (filters, range, page of a list) by their names in the address; absent where nothing is chosen. */
export type Choices = Readonly<Record<string, string>>;

/**
 * The choices in the address, and a function that changes some; "" removes one. Back undoes a change, unless it
 * replaces the entry of the history, as each letter of a search does.
 */
export function useChoices(): {
  readonly choices: Choices;
  choose(changes: Choices, how?: 'push' | 'replace'): void;
} {
  const choices = useSearch({ strict: false }) as Choices;
  const navigate = useNavigate();
  return {
    choices,
    choose: (changes, how = 'push') =>
      void navigate({
        to: '.',
        search: (before: Choices) => changed(before, changes),
        replace: how === 'replace',
        resetScroll: false,
      } as never),
  };
}

/** Choices with changes; "" removes one. */
export function changed(choices: Choices, changes: Choices): Choices {
  return Object.fromEntries(Object.entries({ ...choices, ...changes }).filter(([, value]) => value !== ''));
}

/** The query of an address as texts: `?range=7d&key=12`. */
export function parseChoices(query: string): Choices {
  return Object.fromEntries(new URLSearchParams(query));
}

export function formatChoices(choices: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(choices).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(
    given.map(([name, value]) => [name, String(value)] as [string, string]),
  ).toString();
  return text && `?${text}`;
}

/** The filters of a list as the API takes them: those of `names` that are chosen. */
export function chosenOf(choices: Choices, names: readonly string[]): Choices {
  return Object.fromEntries(names.flatMap((name) => (choices[name] ? [[name, choices[name]]] : [])));
}
