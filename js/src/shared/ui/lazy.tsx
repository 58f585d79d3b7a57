import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/**
 * A component loaded on first render, which renders nothing until then. Keeps rarely needed code
 * out of Lab's initial bundle; a widget's script contains everything.
 */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>
): (props: Props) => VNode | null {
  let Loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
    const [, draw] = useState(false);
    useEffect(() => {
      let isDrawn = true;
      void load().then(
        component => {
          Loaded = component;
          if (isDrawn) {
            draw(true);
          }
        },
        () => undefined
      );
      return () => {
        isDrawn = false;
      };
    }, []);
    return Loaded && <Loaded {...props} />;
  };
}
