import type { Question } from '../api/keys.ts';
import { fromLocalInput } from '../format/time.ts';

/** Values of the form about a call; "" for a field that is left out. */
export interface CallQuestion {
  readonly keyId: number;
  readonly model: string;
  readonly endpoint: string;
  readonly ip: string;
  readonly origin: string;
  readonly country: string;
  /** Value of a datetime-local input. */
  readonly at: string;
}

export const NO_QUESTION: CallQuestion = {
  keyId: 0,
  model: '',
  endpoint: '',
  ip: '',
  origin: '',
  country: '',
  at: '',
};

/** Request body, without the fields that were left out. */
export function questionOf({ keyId: _, at, ...texts }: CallQuestion): Question {
  const said = Object.entries({ ...texts, at: at === '' ? '' : (fromLocalInput(at) ?? at) })
    .map(([name, text]) => [name, text.trim()] as const)
    .filter(([name, text]) => name === 'model' || text !== '');
  return Object.fromEntries(said) as unknown as Question;
}
