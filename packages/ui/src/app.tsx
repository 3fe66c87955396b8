import { createTheme, localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import type { CSSVariablesResolver } from '@mantine/core';
import { useNotifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { onDemand } from './kit/on-demand.tsx';
import { queryClient } from './lib/queries.ts';
import { router } from './routes.tsx';

const theme = createTheme({
  primaryColor: 'brand',
  primaryShade: 7,
  defaultRadius: 6,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  colors: {
    brand: [
      '#e6f6f4',
      '#cdebe7',
      '#9fd8d1',
      '#6dc3b9',
      '#45b1a5',
      '#2a9d91',
      '#17877c',
      '#0f766e',
      '#0d6a63',
      '#0a534e',
    ],
    danger: [
      '#fdeaea',
      '#fbd5d5',
      '#f5aaab',
      '#ee7d7f',
      '#e25559',
      '#d43a40',
      '#c92c35',
      '#b3202a',
      '#981b24',
      '#74141b',
    ],
    dark: [
      '#e4e9ee',
      '#c4cdd5',
      '#a3afb9',
      '#7d8a95',
      '#46525c',
      '#313c45',
      '#202a31',
      '#12181d',
      '#0f1418',
      '#0b0f13',
    ],
  },
  components: {
    Button: { defaultProps: { size: 'sm', fw: 500 } },
    Menu: { defaultProps: { transitionProps: { duration: 0 }, shadow: 'md' } },
    Popover: { defaultProps: { transitionProps: { duration: 0 } } },
    Select: { defaultProps: { comboboxProps: { transitionProps: { duration: 0 } } } },
  },
});

/** The library's own greys and reds are too faint for text. */
const contrast: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#56626d',
    '--mantine-color-placeholder': '#6a7681',
    '--mantine-color-error': '#a81d27',
    '--mantine-color-anchor': '#0c655e',
    '--mantine-color-text': '#1b2329',
  },
  dark: {
    '--mantine-color-dimmed': '#a3afb9',
    '--mantine-color-placeholder': '#95a1ac',
    '--mantine-color-error': '#ff9a9a',
    '--mantine-color-anchor': '#63cdc2',
    '--mantine-color-text': '#e4e9ee',
  },
});

const colorSchemeManager = localStorageColorSchemeManager({ key: 'svc:ui:theme' });

const Notifications = onDemand(async () => (await import('./kit/notices.tsx')).Notifications);

/** Short notices; their code comes with the first of them. */
function Notices(): ReactNode {
  const [isNeeded, setNeeded] = useState(false);
  const { notifications } = useNotifications();
  if (!isNeeded && notifications.length > 0) setNeeded(true);
  return isNeeded ? <Notifications position="bottom-right" /> : null;
}

export function App(): ReactNode {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={contrast}
      colorSchemeManager={colorSchemeManager}
      defaultColorScheme="auto"
    >
      <Notices />
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}
