// Tasks in processes of their own: results, failures, and processes that end.
#include "study/parallel/processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <numeric>
#include <stdexcept>

#include "model/base/error.hpp"

namespace tilerail::study {
namespace {

std::map<std::size_t, TaskEnd> ends_of(std::size_t count, std::size_t tasks,
                                       const std::function<std::string(std::size_t)>& work) {
  std::vector<std::size_t> numbers(tasks);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::map<std::size_t, TaskEnd> ends;
  in_processes({.count = count}, numbers, work, [&](TaskEnd end) {
    const std::size_t task = end.task;
    EXPECT_TRUE(ends.emplace(task, std::move(end)).second) << "task " << task << " ended twice";
  });
  return ends;
}

TEST(Processes, EveryTaskEndsOnceWhateverTheirNumber) {
  for (const std::size_t count : {1, 3, 200}) {
    const auto ends = ends_of(count, 150, [](std::size_t task) { return std::string(task * 1000, 'x'); });
    ASSERT_EQ(ends.size(), 150u);
    for (const auto& [task, end] : ends) {
      EXPECT_FALSE(end.failed);
      EXPECT_EQ(end.text.size(), task * 1000);
    }
  }
  EXPECT_TRUE(ends_of(2, 0, [](std::size_t) { return std::string{}; }).empty());
}

TEST(Processes, TasksAreDoneByOtherProcesses) {
  const auto ends = ends_of(2, 4, [](std::size_t) { return std::to_string(getpid()); });
  for (const auto& [task, end] : ends) EXPECT_NE(end.text, std::to_string(getpid()));
}

TEST(Processes, AnErrorIsOfItsTaskAlone) {
  const auto ends = ends_of(2, 6, [](std::size_t task) -> std::string {
    if (task == 1) throw InputError{"no such machine"};
    if (task == 4) throw std::runtime_error{"a bug"};
    return "done";
  });
  EXPECT_EQ(ends.at(1).text, "no such machine");
  EXPECT_EQ(ends.at(4).text, "internal error: a bug");
  for (const std::size_t task : {0, 2, 3, 5}) EXPECT_EQ(ends.at(task).text, "done");
  EXPECT_TRUE(ends.at(1).failed && ends.at(4).failed && !ends.at(5).failed);
}

TEST(Processes, WantOfHardwareIsToldApart) {
  const auto ends = ends_of(1, 2, [](std::size_t task) -> std::string {
    if (task == 0) throw HardwareError{"no GPU"};
    throw InputError{"no such file"};
  });
  EXPECT_TRUE(ends.at(0).failed && ends.at(0).no_hardware);
  EXPECT_TRUE(ends.at(1).failed && !ends.at(1).no_hardware);
}

TEST(Processes, AProcessThatEndsTakesOneTaskWithIt) {
  const auto ends = ends_of(2, 9, [](std::size_t task) -> std::string {
    if (task % 3 == 0) raise(SIGKILL);
    if (task % 3 == 1) _exit(7);
    return "done";
  });
  ASSERT_EQ(ends.size(), 9u);
  EXPECT_THAT(ends.at(3).text, testing::HasSubstr("signal 9"));
  EXPECT_THAT(ends.at(4).text, testing::HasSubstr("exit code 7"));
  for (const auto& [task, end] : ends) EXPECT_EQ(end.failed, task % 3 != 2);
}

TEST(Processes, WhatTheListenerThrowsEndsAll) {
  const std::vector<std::size_t> tasks{0, 1, 2, 3};
  EXPECT_THROW(in_processes(
                   {.count = 2}, tasks, [](std::size_t) { return std::string{}; },
                   [](const TaskEnd&) { throw InputError{"the disk is full"}; }),
               InputError);
}

}  // namespace
}  // namespace tilerail::study
