import type { InputHTMLAttributes, JSX, ReactNode } from 'react';

/** Attributes that the control of a field must carry. */
export interface ControlAttributes {
  id: string;
  name: string;
  'aria-describedby': string | undefined;
  'aria-invalid': 'true' | undefined;
}

export interface FieldProps {
  /** Name of the field in the API; unique on a page. */
  name: string;
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
}

/** A form field: a label, a control, a hint, and the error of its value. */
export function Field({
  name,
  label,
  hint,
  error,
  children,
}: FieldProps & { children: (attributes: ControlAttributes) => JSX.Element }) {
  const id = `field-${name}`;
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        name,
        'aria-describedby': described || undefined,
        'aria-invalid': error ? 'true' : undefined,
      })}
      <FieldWords id={id} hint={hint} error={error} />
    </div>
  );
}

export function FieldWords({
  id,
  hint,
  error,
}: {
  id: string;
  hint?: ReactNode;
  error?: string | undefined;
}) {
  return (
    <>
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <p className="field-error" id={`${id}-error`} aria-live="polite">
        {error}
      </p>
    </>
  );
}

/** A field for one line of text. */
export function TextField({
  value,
  onValue,
  input,
  ...field
}: FieldProps & {
  value: string;
  onValue: (value: string) => void;
  input?: InputHTMLAttributes<HTMLInputElement>;
}) {
  return (
    <Field {...field}>
      {(attributes) => (
        <input
          autoComplete="off"
          {...input}
          {...attributes}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/**
 * Focuses what is wrong in a form, once it is drawn: the first control that is marked as invalid, else the note with
 * the reason. With `name`, the control of that field. The whole field is scrolled into view, with its message.
 */
export function focusFirstFault(form: HTMLElement | null, name?: string): void {
  const named = name === undefined ? '' : `[id^="field-${name}"]`;
  setTimeout(() => {
    const fault =
      form?.querySelector<HTMLElement>(`[aria-invalid="true"]${named}, [data-fault]${named}`) ??
      form?.querySelector<HTMLElement>('[role="alert"]');
    fault?.focus();
    (fault?.closest('.field') ?? fault)?.scrollIntoView({ block: 'nearest' });
  });
}
