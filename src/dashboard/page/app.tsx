import './style/mantine.css';
import './style/table.css';
import './style/chart.css';
import './style/shell.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { queryClient } from './data/query.ts';
import { router } from './routes.tsx';
import { Themed } from './theme.tsx';

/** The pages of everybody who is signed in. */
export default function App() {
  return (
    <Themed>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </Themed>
  );
}
