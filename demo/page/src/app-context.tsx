import { createContext, useContext } from 'react';
import type { DemoConfig, SessionState } from './config.ts';

export type App = { config: DemoConfig; session: SessionState };

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === null) throw new Error('useApp must be called inside AppContext');
  return app;
}
