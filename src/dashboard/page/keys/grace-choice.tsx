import { MOST_GRACE_S } from '../../../domain/rotation.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { count } from '../format/credits.ts';
import { readWhole } from '../format/read-whole.ts';
import { Field, TextField } from '../ui/field.tsx';

const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
type Unit = keyof typeof UNITS;

/** Values of the choice with what they say; `own` stands for a length of time that is typed. */
const CHOICES: readonly (readonly [value: string, name: string])[] = [
  ['0', 'None: ends immediately'],
  ['3600', '1 hour'],
  ['86400', '24 hours'],
  ['604800', '7 days'],
  ['own', 'Custom'],
];

/** State of the choice of a grace: what is chosen, and what is typed for another length of time. */
export interface Grace {
  readonly chosen: string;
  readonly amount: string;
  readonly unit: Unit;
}

/** A day, in which clients can be changed over one after the other. */
export const A_DAY: Grace = { chosen: '86400', amount: '', unit: 'hours' };

/** Seconds of a grace. Throws an ApiFailure about the field `grace_seconds` for text that is no length of time. */
export function graceSeconds({ chosen, amount, unit }: Grace): number {
  if (chosen !== 'own') return Number(chosen);
  const most = Math.floor(MOST_GRACE_S / UNITS[unit]);
  const number = readWhole(`The number of ${unit}`, amount, 'grace_seconds', most);
  return number * UNITS[unit];
}

/** Seconds of a grace, or undefined if the typed text is no length of time yet. */
export function graceSecondsSoFar(grace: Grace): number | undefined {
  try {
    return graceSeconds(grace);
  } catch (error) {
    if (error instanceof ApiFailure) return undefined;
    throw error;
  }
}

/** Fields that ask how long the previous value stays valid. */
export function GraceChoice(props: {
  grace: Grace;
  onGrace: (grace: Grace) => void;
  error: string | undefined;
}) {
  const { grace, onGrace, error } = props;
  const isOwn = grace.chosen === 'own';
  return (
    <>
      <Field name="grace" label="Grace period for the current value" error={isOwn ? undefined : error}>
        {(attributes) => (
          <select
            {...attributes}
            value={grace.chosen}
            onChange={(event) => onGrace({ ...grace, chosen: event.currentTarget.value })}
          >
            {CHOICES.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {isOwn && (
        <div className="pair">
          <TextField
            name="grace_seconds"
            label="Duration"
            hint={`At most ${count(MOST_GRACE_S / UNITS.days)} days.`}
            error={error}
            value={grace.amount}
            onValue={(amount) => onGrace({ ...grace, amount })}
            input={{ inputMode: 'numeric' }}
          />
          <Field name="grace_unit" label="Unit">
            {(attributes) => (
              <select
                {...attributes}
                value={grace.unit}
                onChange={(event) => {
                  const unit = (Object.keys(UNITS) as Unit[]).find(
                    (known) => known === event.currentTarget.value,
                  );
                  if (unit) onGrace({ ...grace, unit });
                }}
              >
                {Object.keys(UNITS).map((unit) => (
                  <option key={unit} value={unit}>
                    {unit}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
      )}
    </>
  );
}
