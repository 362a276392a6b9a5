import { useState } from 'react';
import { postJson } from '../config.ts';

/** Sends sandbox controls one at a time, and says how the last one went. */
export function useControl() {
  const [state, setState] = useState({ isBusy: false, message: '' });
  const send = async (path: string, body: object, done: string): Promise<boolean> => {
    setState({ isBusy: true, message: '' });
    try {
      await postJson(`/sandbox/${path}`, body);
      setState({ isBusy: false, message: done });
      return true;
    } catch (error) {
      setState({ isBusy: false, message: `That didn't work: ${(error as Error).message}` });
      return false;
    }
  };
  return { ...state, send };
}
