import { Drawer } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';

/** What had the focus before the latest panel. A panel that takes another's place has the same opener. */
let latest: Element | null = null;

function openerNow(): Element | null {
  const focused = document.activeElement;
  if (focused?.closest('[role="dialog"]') == null) latest = focused;
  return latest;
}

/**
 * Details at the right edge, over the page, open while it is rendered. Escape and a click beside it close it, and the
 * focus returns to where it was.
 */
export function SidePanel(props: { title: string; onClose: () => void; children: ReactNode }) {
  const [opener] = useState(openerNow);
  useEffect(
    () => () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    },
    [opener],
  );
  return (
    <Drawer
      opened
      onClose={props.onClose}
      title={props.title}
      size="lg"
      // It records the focus when it opens later than it is drawn, which this one never does.
      returnFocus={false}
      transitionProps={{ duration: 0 }}
    >
      {props.children}
    </Drawer>
  );
}

/** A line of the list of facts in a panel. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
