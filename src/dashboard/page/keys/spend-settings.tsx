import { SPENDING_PERIODS } from '../../../domain/key.ts';
import { rowAt } from '../../../domain/key-settings.ts';
import { LIMITS_HINT } from '../format/limits.ts';
import { PERIOD_NAMES, thisPeriod } from '../format/words.ts';
import { Amount } from '../ui/amount.tsx';
import { Bar } from '../ui/elements.tsx';
import { Field, TextField } from '../ui/field.tsx';
import type { KeyFormPart } from './key-draft.ts';
import { SettingGroup } from './setting-group.tsx';

export function SpendSettings({ draft, errors, change, known }: KeyFormPart) {
  return (
    <SettingGroup title="Spending" words="Calls that could exceed a limit get 402 until its period ends.">
      <label className="tick">
        <input
          type="checkbox"
          checked={draft.hasLimit}
          onChange={(event) => change({ hasLimit: event.currentTarget.checked })}
        />
        <span>Limit the spending of this key</span>
      </label>
      <div className="pair">
        {draft.hasLimit && (
          <TextField
            name="spending_limit"
            label="Limit in credits"
            error={errors.spending_limit}
            value={draft.limit}
            onValue={(limit) => change({ limit })}
            input={{ inputMode: 'decimal' }}
          />
        )}
        <Field name="spending_period" label="Period" error={errors.spending_period}>
          {(attributes) => (
            <select
              {...attributes}
              value={draft.period}
              onChange={(event) => {
                const period = SPENDING_PERIODS.find((name) => name === event.currentTarget.value);
                if (period) change({ period });
              }}
            >
              {SPENDING_PERIODS.map((period) => (
                <option key={period} value={period}>
                  {PERIOD_NAMES[period]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <TextField
        name="spending_limits"
        label={rowAt('spending_limits').label}
        hint={`${LIMITS_HINT} They hold together with the limit above.`}
        error={errors.spending_limits}
        value={draft.moreLimits}
        onValue={(moreLimits) => change({ moreLimits })}
      />
      {known && (
        <Spent spent={known.spending_current} period={known.spending_period} limit={limitOf(draft)} />
      )}
    </SettingGroup>
  );
}

/** The limit as a number; undefined if there is none, or the typed text is no number yet. */
function limitOf({ hasLimit, limit }: KeyFormPart['draft']): number | undefined {
  const amount = hasLimit && limit.trim() !== '' ? Number(limit) : Number.NaN;
  return amount >= 0 ? amount : undefined;
}

function Spent({ spent, period, limit }: { spent: string; period: string; limit: number | undefined }) {
  if (limit === undefined) {
    return (
      <p className="spent">
        Spent {thisPeriod(period)}:{' '}
        <strong>
          <Amount of={spent} />
        </strong>{' '}
        credits
      </p>
    );
  }
  const part = limit === 0 ? 1 : Number(spent) / limit;
  return (
    <div className="spent">
      <p>
        Spent {thisPeriod(period)}:{' '}
        <strong>
          <Amount of={spent} />
        </strong>{' '}
        of <Amount of={limit} /> credits
        {part >= 1 ? '. The limit has been reached.' : ''}
      </p>
      <Bar part={part} full={part >= 1} />
    </div>
  );
}
