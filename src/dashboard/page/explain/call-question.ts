import { CALLER_FACT_NAMES, type CallerFact, eachFact } from '../../../domain/caller-facts.ts';
import { fromLocalInput, toLocalInput } from '../format/time.ts';

/** Body of an explain request; the schema in the API would pull the gateway into the page. */
export type Question = { model: string; endpoint?: string; at?: string } & { [F in CallerFact]?: string };

/** Values of the form about a call; "" for a field that is left out. */
export interface CallQuestion extends Readonly<Record<CallerFact, string>> {
  readonly keyId: number;
  readonly model: string;
  readonly endpoint: string;
  /** Value of a datetime-local input. */
  readonly at: string;
}

export const NO_QUESTION: CallQuestion = {
  keyId: 0,
  model: '',
  endpoint: '',
  ...eachFact(() => ''),
  at: '',
};

/** Request body, without the fields that were left out. */
export function questionOf({ keyId: _, at, ...texts }: CallQuestion): Question {
  const said = Object.entries({ ...texts, at: at === '' ? '' : (fromLocalInput(at) ?? at) })
    .map(([name, text]) => [name, text.trim()] as const)
    .filter(([name, text]) => name === 'model' || text !== '');
  return Object.fromEntries(said) as unknown as Question;
}

const ASKED = ['model', 'endpoint', ...CALLER_FACT_NAMES] as const;

/** The fields that the page's address, `asked`, fills in, as a link from a request does. `at` is a timestamp there. */
export function questionInAddress(asked: URLSearchParams): Partial<CallQuestion> {
  const given = ASKED.filter((name) => asked.has(name)).map((name) => [name, asked.get(name) ?? '']);
  const at = asked.get('at');
  return { ...Object.fromEntries(given), ...(at === null ? {} : { at: toLocalInput(at) }) };
}
