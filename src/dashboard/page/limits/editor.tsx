import { ActionIcon, Button, NativeSelect, TextInput } from '@mantine/core';
import { LIMIT_PERIODS } from '../../../domain/limit-periods.ts';
import { FIELD, faultOf, type LimitRow, OFFERED, PER } from './limit-rows.ts';
import '../style/edit.css';

/** Spending limits, a row each: at most one for a period. A fault is shown at its row. */
export function LimitsEditor({
  label = 'Spending limits',
  hint,
  rows,
  onRows,
  error,
}: {
  label?: string;
  hint?: string;
  rows: readonly LimitRow[];
  onRows: (rows: readonly LimitRow[]) => void;
  /** Fault of the rows, once the form was sent. */
  error?: unknown;
}) {
  const taken = new Set(rows.map(({ period }) => period));
  const next = OFFERED.find((period) => !taken.has(period));
  const change = (at: number, part: Partial<LimitRow>) =>
    onRows(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  const faults = rows.map((row) => (error ? faultOf(row) : undefined));
  return (
    <fieldset className="limit-rows" data-path={FIELD}>
      <legend>{label}</legend>
      {hint && <p className="hint">{hint}</p>}
      {rows.map((row, index) => (
        <div key={index} className="limit-row">
          <TextInput
            aria-label={`Limit ${index + 1} in credits`}
            inputMode="decimal"
            autoComplete="off"
            placeholder="No limit"
            value={row.credits}
            error={faults[index]}
            onChange={(event) => change(index, { credits: event.currentTarget.value })}
          />
          <span>credits</span>
          <NativeSelect
            aria-label={`Period of limit ${index + 1}`}
            value={row.period}
            onChange={({ currentTarget: { value } }) => {
              const period = LIMIT_PERIODS.find((known) => known === value);
              if (period) change(index, { period });
            }}
            data={LIMIT_PERIODS.map((period) => ({
              value: period,
              label: PER[period],
              disabled: period !== row.period && taken.has(period),
            }))}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={`Remove limit ${index + 1}`}
            onClick={() => onRows(rows.filter((_, other) => other !== index))}
          >
            ×
          </ActionIcon>
        </div>
      ))}
      {error !== undefined && error !== null && faults.every((fault) => !fault) && (
        <p className="field-error" role="alert">
          {String(error)}
        </p>
      )}
      {next && (
        <Button
          size="xs"
          variant="default"
          onClick={() =>
            onRows([...rows, { period: next, credits: '', isPair: rows.every(({ isPair }) => !isPair) }])
          }
        >
          Add limit
        </Button>
      )}
    </fieldset>
  );
}
