import { isWithin, parseActiveHours } from '../../../domain/hours.ts';
import { localClock, zoneName } from '../format/time.ts';
import { FieldWords } from '../ui/field.tsx';
import type { KeyFormPart } from './key-draft.ts';
import { hoursOf } from './read-draft.ts';
import { SettingGroup } from './setting-group.tsx';

/** Fields for the hours in which the key works: two times of the UTC day. */
export function HourSettings({ draft, errors, change }: KeyFormPart) {
  const id = 'field-active_hours';
  const attributes = {
    type: 'time' as const,
    name: 'active_hours',
    required: true,
    'aria-describedby': `${id}-hint ${id}-error`,
    'aria-invalid': errors.active_hours ? ('true' as const) : undefined,
  };
  return (
    <SettingGroup title="Active hours" words="The hours of the day in which the key works.">
      <label className="tick">
        <input
          type="checkbox"
          checked={draft.hasHours}
          onChange={(event) => change({ hasHours: event.currentTarget.checked })}
        />
        <span>Restrict to certain hours</span>
      </label>
      {draft.hasHours && (
        <>
          <div className="pair">
            <div className="field">
              <label htmlFor={`${id}-start`}>From (UTC)</label>
              <input
                {...attributes}
                id={`${id}-start`}
                value={draft.start}
                onInput={(event) => change({ start: event.currentTarget.value })}
              />
            </div>
            <div className="field">
              <label htmlFor={`${id}-end`}>Until (UTC)</label>
              <input
                {...attributes}
                id={`${id}-end`}
                value={draft.end}
                onInput={(event) => change({ end: event.currentTarget.value })}
              />
            </div>
          </div>
          <FieldWords id={id} hint={hoursInWords(draft)} error={errors.active_hours} />
        </>
      )}
    </SettingGroup>
  );
}

/** Explanation of the two times, with the wrap past midnight and in local time. */
function hoursInWords(draft: KeyFormPart['draft']): string {
  const text = hoursText(draft);
  const hours = text === undefined ? undefined : parseActiveHours(text);
  if (!text || !hours) return 'Every day, in UTC. The start is included, the end is not.';
  const [start = '', end = ''] = text.split('-');
  const wraps = hours.startMinute > hours.endMinute;
  const utc = wraps
    ? `Every day from ${start} until ${end} on the next day, UTC.`
    : `Every day from ${start} until ${end} UTC.`;
  const local = `In ${zoneName()}, with today's offset: ${localClock(start)} until ${localClock(end)}.`;
  const now = isWithin(hours, Date.now())
    ? 'The current time is within these hours.'
    : 'The current time is outside these hours.';
  return `${utc} ${local} ${now}`;
}

function hoursText(draft: KeyFormPart['draft']): string | undefined {
  try {
    return hoursOf(draft);
  } catch {
    return undefined;
  }
}
