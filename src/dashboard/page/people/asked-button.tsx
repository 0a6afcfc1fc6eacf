import { useState } from 'react';
import { announce } from '../ui/announcements.tsx';
import { Confirm } from '../ui/confirm.tsx';

/** Button that acts after a question. */
export function AskedButton(props: {
  verb: string;
  title: string;
  words: string;
  act: () => Promise<unknown>;
  /** Announced after it. */
  done: string;
  onDone: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const act = async () => {
    await props.act();
    announce(props.done);
    props.onDone();
  };
  return (
    <>
      <button type="button" className="danger-quiet" onClick={() => setAsking(true)}>
        {props.verb}
      </button>
      {isAsking && (
        <Confirm title={props.title} verb={props.verb} danger act={act} onClose={() => setAsking(false)}>
          <p>{props.words}</p>
        </Confirm>
      )}
    </>
  );
}
