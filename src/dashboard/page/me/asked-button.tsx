import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { announce } from '../ui/announce.tsx';
import { Confirm } from '../ui/confirm.tsx';

/** Button that acts after a question, whose words are its children. */
export function AskedButton(props: {
  verb: string;
  /** Name of the button, if its verb alone does not say what it is about. */
  name?: string;
  title: string;
  act: () => Promise<unknown>;
  /** Announced after it. */
  done: string;
  children: ReactNode;
}) {
  const [isAsking, setAsking] = useState(false);
  const act = async () => {
    await props.act();
    announce(props.done);
  };
  return (
    <>
      <Button size="compact-sm" variant="default" aria-label={props.name} onClick={() => setAsking(true)}>
        {props.verb}
      </Button>
      {isAsking && (
        <Confirm title={props.title} verb={props.verb} danger act={act} onClose={() => setAsking(false)}>
          <p>{props.children}</p>
        </Confirm>
      )}
    </>
  );
}
