"""Circles in a graph: groups of names that can all reach each other (Tarjan, without recursion)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def circles(graph: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Each group of two or more names on a common circle, and each name that leads to itself; sorted."""
    found = [sorted(group) for group in _components(graph) if len(group) > 1 or group[0] in graph.get(group[0], ())]
    return sorted(found)


def _components(graph: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    for start in graph:
        if start in number:
            continue
        work: list[tuple[str, Iterator[str]]] = [_enter(start, graph, number, lowest, path, on_path)]
        while work:
            name, following = work[-1]
            for after in following:
                if after not in number and after in graph:
                    work.append(_enter(after, graph, number, lowest, path, on_path))
                    break
                if after in on_path:
                    lowest[name] = min(lowest[name], number[after])
            else:
                work.pop()
                if work:
                    before = work[-1][0]
                    lowest[before] = min(lowest[before], lowest[name])
                if lowest[name] == number[name]:
                    yield _leave(name, path, on_path)


def _enter(
    name: str,
    graph: Mapping[str, Sequence[str]],
    number: dict[str, int],
    lowest: dict[str, int],
    path: list[str],
    on_path: set[str],
) -> tuple[str, Iterator[str]]:
    number[name] = lowest[name] = len(number)
    path.append(name)
    on_path.add(name)
    return name, iter(graph[name])


def _leave(name: str, path: list[str], on_path: set[str]) -> list[str]:
    group: list[str] = []
    while not group or group[-1] != name:
        group.append(path.pop())
        on_path.discard(group[-1])
    return group
