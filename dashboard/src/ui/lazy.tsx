// A view that is loaded when it is first drawn. A file that is gone means that the server was replaced by another version: the
// page has to be loaded again, and says so.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button, Loading } from './parts.js';

type View = () => JSX.Element;

export function lazy(load: () => Promise<View>): View {
  let loaded: View | undefined;
  return function LazyView() {
    const state = useSignal<'loading' | 'loaded' | 'failed'>(loaded ? 'loaded' : 'loading');
    useEffect(() => {
      if (loaded) return;
      load().then(
        (view) => {
          loaded = view;
          state.value = 'loaded';
        },
        () => {
          state.value = 'failed';
        },
      );
    }, []);
    if (state.value === 'loaded' && loaded) {
      const View = loaded;
      return <View />;
    }
    return (
      <div class="view">
        {state.value === 'loading' ? (
          <Loading />
        ) : (
          <div class="note" role="alert">
            <span>This view could not be loaded: the server is away, or it was updated.</span>
            <Button onClick={() => location.reload()}>Reload the page</Button>
          </div>
        )}
      </div>
    );
  };
}
