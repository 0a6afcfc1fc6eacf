import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';

/** Details at the right edge, over the page. Escape and a click beside it close it, and the focus returns to its row. */
export function SidePanel(props: { title: string; onClose: () => void; children: ReactNode }) {
  return (
    <Drawer opened onClose={props.onClose} title={props.title} size="lg" transitionProps={{ duration: 0 }}>
      {props.children}
    </Drawer>
  );
}
