import type { InputHTMLAttributes } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { CALLER_FACT_NAMES, CALLER_FACTS, type CallerFact } from '../../../domain/caller-facts.ts';
import { fieldOf, wordsOf } from '../api/failure.ts';
import type { Action } from '../api/use-action.ts';
import { COUNTRIES } from '../format/countries.ts';
import { zoneName } from '../format/time.ts';
import { KeyChoice } from '../keys/key-choice.tsx';
import { ActionForm } from '../ui/action-form.tsx';
import { Field, TextField } from '../ui/field.tsx';
import type { CallQuestion } from './call-question.ts';

const FIELDS = ['model', 'endpoint', ...CALLER_FACT_NAMES, 'at'] as const;

/** Facts that are chosen from a list. */
const CHOICES: Readonly<Partial<Record<CallerFact, Parameters<typeof Choice>[0]['choices']>>> = {
  country: COUNTRIES.map(({ code, name }) => [code, name]),
};

export function ExplainForm(props: {
  keys: readonly KeyView[];
  models: readonly string[];
  endpoints: readonly string[];
  question: CallQuestion;
  onQuestion: (question: CallQuestion) => void;
  action: Action<void>;
}) {
  const { question, onQuestion, action } = props;
  const refused = fieldOf(action.error, FIELDS);
  const errorOf = (name: (typeof FIELDS)[number]) => (refused === name ? wordsOf(action.error) : undefined);
  const text = (name: 'model' | CallerFact | 'at', input: InputHTMLAttributes<HTMLInputElement>) => ({
    name,
    error: errorOf(name),
    value: question[name],
    onValue: (value: string) => onQuestion({ ...question, [name]: value }),
    input,
  });
  return (
    <ActionForm action={action} isAtField={refused !== undefined} verb="Explain" className="card">
      <KeyChoice
        keys={props.keys}
        chosen={String(question.keyId)}
        onChosen={(id) => onQuestion({ ...question, keyId: Number(id) })}
      />
      <TextField {...text('model', { list: 'explain-models', spellCheck: 'false' })} label="Model" />
      <datalist id="explain-models">
        {props.models.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <Choice
        name="endpoint"
        label="Endpoint"
        none="First endpoint that serves the model"
        choices={props.endpoints.map((path) => [path, path])}
        error={errorOf('endpoint')}
        question={question}
        onQuestion={onQuestion}
      />
      {CALLER_FACT_NAMES.map((name) => {
        const { label, unasked } = CALLER_FACTS[name];
        const choices = CHOICES[name];
        if (!choices) return <TextField key={name} {...text(name, { placeholder: unasked })} label={label} />;
        return (
          <Choice
            key={name}
            {...{ name, label, choices, question, onQuestion }}
            none={unasked}
            error={errorOf(name)}
          />
        );
      })}
      <TextField
        {...text('at', { type: 'datetime-local' })}
        label="Time"
        hint={`In your time zone (${zoneName()}). Leave empty for now. Affects active hours and expiry only; credits are always current.`}
      />
    </ActionForm>
  );
}

function Choice(props: {
  name: 'endpoint' | CallerFact;
  label: string;
  none: string;
  choices: readonly (readonly [value: string, name: string])[];
  error: string | undefined;
  question: CallQuestion;
  onQuestion: (question: CallQuestion) => void;
}) {
  const { name, question, onQuestion } = props;
  return (
    <Field name={name} label={props.label} error={props.error}>
      {(attributes) => (
        <select
          {...attributes}
          value={question[name]}
          onChange={(event) => onQuestion({ ...question, [name]: event.currentTarget.value })}
        >
          <option value="">{props.none}</option>
          {props.choices.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
