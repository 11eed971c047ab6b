// holdfast/stores/memory: the store that is the model.
export { MemoryStore } from './memory-store.js';
