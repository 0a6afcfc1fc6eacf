import { useEffect, useRef, useState } from 'react';
import type { ExplanationView } from '../../../api/explain/explanation-view.ts';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { type Base, explainCall, OWN, readEndpoints, readKeys, readModels } from '../api/account.ts';
import { readModelsOfOperator } from '../api/operator.ts';
import { useAction } from '../api/use-action.ts';
import { useLoad } from '../api/use-load.ts';
import { query } from '../route.ts';
import { Empty } from '../ui/elements.tsx';
import { Shown } from '../ui/shown.tsx';
import { NO_QUESTION, questionInAddress, questionOf } from './call-question.ts';
import type { Checked } from './detail.tsx';
import { ExplainForm } from './explain-form.tsx';
import { Verdict } from './verdict.tsx';

/** Shows the answer that a call of an account would get, check by check. */
export function Explain({ of: base, keyId }: { of: Base; keyId: number | undefined }) {
  const loaded = useLoad(async (signal) => {
    const [keys, models, endpoints] = await Promise.all([
      readKeys(base, signal),
      base === OWN ? readModels(signal) : readModelsOfOperator(signal).then((report) => report.models),
      readEndpoints(signal),
    ]);
    return { keys, models, endpoints };
  }, base);
  return (
    <>
      <p className="lead">
        Shows check by check whether a call with this key would be accepted. Nothing is sent or charged.
      </p>
      <Shown of={loaded}>
        {({ keys, models, endpoints }) => (
          <Asking
            of={base}
            keys={keys}
            models={models.map(({ id }) => id)}
            endpoints={endpoints}
            keyId={keyId}
          />
        )}
      </Shown>
    </>
  );
}

function Asking(props: {
  of: Base;
  keys: readonly KeyView[];
  models: readonly string[];
  endpoints: readonly string[];
  keyId: number | undefined;
}) {
  const first = props.keyId ?? props.keys[0]?.id ?? 0;
  const [question, setQuestion] = useState(() => ({
    ...NO_QUESTION,
    keyId: first,
    model: props.models[0] ?? '',
    ...questionInAddress(query.value),
  }));
  const [answer, setAnswer] = useState<{ explanation: ExplanationView; checked: Checked }>();
  const action = useAction(async () => {
    setAnswer(undefined);
    const asked = questionOf(question);
    const explanation = await explainCall(props.of, question.keyId, asked);
    const { caller } = explanation;
    const { at = new Date().toISOString() } = asked;
    const isOwnAddress = asked.ip === undefined && asked.country === undefined;
    setAnswer({ explanation, checked: { caller, at, isOwnAddress } });
  });
  const place = useRef<HTMLDivElement>(null);
  // On a phone the answer is below the form.
  useEffect(() => {
    if (answer) place.current?.querySelector('h2')?.scrollIntoView({ block: 'nearest' });
  }, [answer]);
  return (
    <div className="columns columns-explain">
      <ExplainForm
        {...props}
        question={question}
        onQuestion={(changed) => {
          action.forget();
          setQuestion(changed);
        }}
        action={action}
      />
      <div ref={place} aria-live="polite">
        {!answer && (
          <Empty title="No answer yet">
            <p>Choose a key and a model. The checks appear here in their order.</p>
          </Empty>
        )}
        {answer && <Verdict of={answer.explanation} checked={answer.checked} />}
      </div>
    </div>
  );
}
