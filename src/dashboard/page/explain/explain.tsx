import { useState } from 'react';
import type { ExplanationView } from '../../../api/explain/explanation-view.ts';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { OWN, readEndpoints, readKeys, readModels } from '../api/account.ts';
import { explainCall } from '../api/keys.ts';
import { useAction } from '../api/use-action.ts';
import { useLoad } from '../api/use-load.ts';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { NO_QUESTION, questionInAddress, questionOf } from './call-question.ts';
import { ExplainForm } from './explain-form.tsx';
import { Verdict } from './verdict.tsx';

/** Page that shows the answer that a call would get, check by check. */
export function Explain({ keyId }: { keyId: number | undefined }) {
  const loaded = useLoad(async (signal) => {
    const [keys, models, endpoints] = await Promise.all([
      readKeys(OWN, signal),
      readModels(signal),
      readEndpoints(signal),
    ]);
    return { keys, models, endpoints };
  });
  return (
    <PageFrame title="Explain a call">
      <p className="lead">
        Shows check by check whether a call with this key would be accepted. Nothing is sent or charged.
      </p>
      <Shown of={loaded}>
        {({ keys, models, endpoints }) => (
          <Asking keys={keys} models={models.map(({ id }) => id)} endpoints={endpoints} keyId={keyId} />
        )}
      </Shown>
    </PageFrame>
  );
}

function Asking(props: {
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
    ...questionInAddress(),
  }));
  const [answer, setAnswer] = useState<{ explanation: ExplanationView; isOwnAddress: boolean }>();
  const action = useAction(async () => {
    setAnswer(undefined);
    const explanation = await explainCall(question.keyId, questionOf(question));
    setAnswer({ explanation, isOwnAddress: (question.ip + question.country).trim() === '' });
  });
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
      <div aria-live="polite">
        {answer && <Verdict of={answer.explanation} isOwnAddress={answer.isOwnAddress} />}
      </div>
    </div>
  );
}
